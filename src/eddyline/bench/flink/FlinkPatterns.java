import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.ZoneOffset;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.legacy.RichSinkFunction;
import org.apache.flink.streaming.api.functions.source.legacy.SourceFunction;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.api.Schema;
import org.apache.flink.table.api.Table;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.logical.BigIntType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;

/**
 * Runs queries of Flink SQL over rows that are in memory, one job each, and prints their times.
 *
 * <p>Argument: a file of int64, little-endian: ts (milliseconds), k and v of each row, column by
 * column. Each line of the input is a file with the text of a query over the table a (ts, k, v), all of whose
 * columns are BIGINT. Each line of the output is: rows, results, the sum of their hashes, and the
 * nanoseconds from the first row to the last result.
 */
public final class FlinkPatterns {
    private static final int ROWS_PER_WATERMARK = Integer.getInteger("watermark", 1_000);

    private static long[] ts;
    private static long[] k;
    private static long[] v;
    private static volatile long began;
    private static volatile long ended;
    private static volatile long results;
    private static volatile long hash;

    private FlinkPatterns() {}

    public static void main(String[] arguments) throws Exception {
        PrintStream out = System.out;
        System.setOut(System.err);
        read(Path.of(arguments[0]));
        out.println("ready");
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            run(Files.readString(Path.of(line)));
            out.println(ts.length + " " + results + " " + hash + " " + (ended - began));
        }
    }

    private static void read(Path file) throws Exception {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            ByteBuffer bytes = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size());
            bytes.order(ByteOrder.LITTLE_ENDIAN);
            int rows = bytes.remaining() / (3 * Long.BYTES);
            ts = new long[rows];
            k = new long[rows];
            v = new long[rows];
            bytes.asLongBuffer().get(ts).get(k).get(v);
        }
    }

    private static void run(String query) throws Exception {
        StreamExecutionEnvironment environment = StreamExecutionEnvironment.createLocalEnvironment(1);
        environment.getConfig().enableObjectReuse();
        StreamTableEnvironment tables = StreamTableEnvironment.create(environment);
        tables.getConfig().setLocalTimeZone(ZoneOffset.UTC);
        RowType row =
                RowType.of(new LogicalType[] {new BigIntType(), new BigIntType()}, new String[] {"k", "v"});
        DataStream<RowData> rows = environment.addSource(new Rows(), "rows", InternalTypeInfo.of(row));
        Schema schema =
                Schema.newBuilder()
                        .columnByMetadata("ts", DataTypes.TIMESTAMP_LTZ(3), "rowtime")
                        .column("k", DataTypes.BIGINT())
                        .column("v", DataTypes.BIGINT())
                        .watermark("ts", "SOURCE_WATERMARK()")
                        .build();
        tables.createTemporaryView("a", rows, schema);
        Table matches = tables.sqlQuery(query);
        if (Boolean.getBoolean("explain")) System.err.println(matches.explain());
        int columns = matches.getResolvedSchema().getColumnCount();
        DataType type = matches.getResolvedSchema().toPhysicalRowDataType().bridgedTo(RowData.class);
        DataStream<RowData> found = tables.toDataStream(matches, type);
        found.addSink(new Counted(columns));
        environment.execute();
    }

    private static final class Rows implements SourceFunction<RowData> {
        private volatile boolean isRunning = true;

        @Override
        public void run(SourceContext<RowData> context) {
            began = System.nanoTime();
            for (int i = 0; i < ts.length && isRunning; i++) {
                GenericRowData row = new GenericRowData(2);
                row.setField(0, k[i]);
                row.setField(1, v[i]);
                context.collectWithTimestamp(row, ts[i]);
                if (i % ROWS_PER_WATERMARK == ROWS_PER_WATERMARK - 1) {
                    context.emitWatermark(new Watermark(ts[i]));
                }
            }
        }

        @Override
        public void cancel() {
            isRunning = false;
        }
    }

    private static final class Counted extends RichSinkFunction<RowData> {
        private final int columns;
        private long count;
        private long sum;

        Counted(int columns) {
            this.columns = columns;
        }

        @Override
        public void invoke(RowData row, Context context) {
            long hashed = 0;
            for (int i = 0; i < columns; i++) {
                hashed = hashed * 0x9E3779B97F4A7C15L + row.getLong(i);
                hashed ^= hashed >>> 32;
            }
            count++;
            sum += hashed;
        }

        @Override
        public void finish() {
            ended = System.nanoTime();
            results = count;
            hash = sum;
        }
    }
}
