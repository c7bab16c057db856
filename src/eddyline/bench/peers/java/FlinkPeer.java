import java.io.PrintStream;
import java.nio.file.Path;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.legacy.RichSinkFunction;
import org.apache.flink.streaming.api.functions.source.legacy.SourceFunction;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.table.annotation.DataTypeHint;
import org.apache.flink.table.annotation.FunctionHint;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.api.Schema;
import org.apache.flink.table.api.Table;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.functions.TableFunction;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.logical.BigIntType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.VarCharType;
import org.apache.flink.types.Row;

/**
 * Flink SQL in an embedded cluster: parallelism 1, object reuse, state on the heap.
 *
 * <p>A run is a job. It counts from the first row of a source to the end of the sink; planning and
 * the start of the cluster are not measured.
 */
public final class FlinkPeer {
    private static final int ROWS_PER_WATERMARK = 1_000;

    private static Case asked;
    private static GenericRowData[][] rows;
    private static long[][] times;
    private static long[][] rules;
    private static volatile Serve.Bag bag;

    private FlinkPeer() {}

    public static void main(String[] arguments) throws Exception {
        PrintStream out = System.out;
        System.setOut(System.err);
        asked = new Case(Path.of(arguments[0]));
        rows = new GenericRowData[asked.streams.length][asked.rows];
        times = new long[asked.streams.length][];
        for (int s = 0; s < rows.length; s++) {
            long[][] columns = asked.read(asked.streams[s], 1 + asked.columns.length);
            times[s] = columns[0];
            for (int i = 0; i < asked.rows; i++) rows[s][i] = row(columns, i);
        }
        if (asked.kind.equals("rules")) rules = asked.read("rules", 4);
        if (asked.kind.equals("queries")) rules = asked.read("rules", 2);
        Serve.serve(out, form -> new Job());
    }

    private static final class Job implements Serve.Run {
        @Override
        public void run(Serve.Bag found) throws Exception {
            execute(found);
        }

        @Override
        public boolean marksItsTime() {
            return true;
        }
    }

    private static GenericRowData row(long[][] columns, int i) {
        GenericRowData row = new GenericRowData(columns.length);
        for (int c = 0; c < columns.length; c++) {
            boolean isText = asked.hasTextKeys && c == 1;
            row.setField(c, isText ? StringData.fromString(Case.text(columns[c][i])) : columns[c][i]);
        }
        return row;
    }

    private static void execute(Serve.Bag results) throws Exception {
        bag = results;
        StreamExecutionEnvironment environment = StreamExecutionEnvironment.createLocalEnvironment(1);
        environment.getConfig().enableObjectReuse();
        StreamTableEnvironment tables = StreamTableEnvironment.create(environment);
        tables.getConfig().setLocalTimeZone(ZoneOffset.UTC);
        for (int s = 0; s < rows.length; s++) add(environment, tables, s);
        tables.createTemporarySystemFunction("matching", Matching.class);
        Table asTable = tables.sqlQuery(text());
        if (Boolean.getBoolean("explain")) System.err.println(asTable.explain());
        List<DataType> types = asTable.getResolvedSchema().getColumnDataTypes();
        DataType type = asTable.getResolvedSchema().toPhysicalRowDataType().bridgedTo(RowData.class);
        DataStream<RowData> found = tables.toDataStream(asTable, type);
        found.addSink(new Counted(types.size()));
        environment.execute();
    }

    private static void add(
            StreamExecutionEnvironment environment, StreamTableEnvironment tables, int s) {
        int size = 1 + asked.columns.length;
        LogicalType[] types = new LogicalType[size];
        String[] names = new String[size];
        Schema.Builder schema = Schema.newBuilder();
        for (int c = 0; c < size; c++) {
            boolean isText = asked.hasTextKeys && c == 1;
            types[c] = isText ? new VarCharType(VarCharType.MAX_LENGTH) : new BigIntType();
            names[c] = c == 0 ? "us" : asked.columns[c - 1];
            schema.column(names[c], isText ? DataTypes.STRING() : DataTypes.BIGINT());
        }
        schema.columnByMetadata("ts", DataTypes.TIMESTAMP_LTZ(3), "rowtime");
        schema.watermark("ts", "SOURCE_WATERMARK()");
        DataStream<RowData> stream =
                environment.addSource(
                        new Rows(s), asked.streams[s], InternalTypeInfo.of(RowType.of(types, names)));
        tables.createTemporaryView(asked.streams[s], stream, schema.build());
    }

    private static String text() {
        return switch (asked.kind) {
            case "join" -> "SELECT a.k, a.v, b.v FROM a, b WHERE a.k = b.k AND " + near("a", "b");
            case "over" ->
                    "SELECT us, k, COUNT(*) OVER w, SUM(v) OVER w FROM s WINDOW w AS (PARTITION BY k"
                            + " ORDER BY ts RANGE BETWEEN "
                            + interval(asked.windowMicros / 1_000)
                            + " PRECEDING AND CURRENT ROW)";
            case "rules" ->
                    asked.count == 1
                            ? "SELECT CAST(0 AS BIGINT), v FROM s WHERE x BETWEEN "
                                    + rules[0][0] + " AND " + rules[1][0] + " AND y BETWEEN "
                                    + rules[2][0] + " AND " + rules[3][0]
                            : "SELECT id, v FROM s, LATERAL TABLE(matching(x, y)) AS r(id)";
            case "queries" ->
                    "SELECT a.us, b.us, a.x, a.v, b.v FROM a, b WHERE a.k = b.k AND "
                            + near("a", "b");
            case "chain", "star", "cycle" -> chain();
            default -> throw new IllegalArgumentException(asked.kind);
        };
    }

    private static String chain() {
        List<String> values = new ArrayList<>();
        List<String> conditions = new ArrayList<>();
        for (int i = 0; i < asked.streams.length; i++) {
            String s = asked.streams[i];
            values.add(s + ".v");
            if (i > 0) conditions.add(asked.equalKeys(i));
            for (int j = i - 1; j >= 0; j--) conditions.add(near(asked.streams[j], s));
        }
        return "SELECT "
                + String.join(", ", values)
                + " FROM "
                + String.join(", ", asked.streams)
                + " WHERE "
                + String.join(" AND ", conditions);
    }

    /** Both ends of an interval belong to it, and times are milliseconds. */
    private static String near(String a, String b) {
        String interval = interval(asked.windowMicros / 1_000 - 1);
        return b + ".ts BETWEEN " + a + ".ts - " + interval + " AND " + a + ".ts + " + interval;
    }

    private static String interval(long millis) {
        long seconds = millis / 1_000;
        return String.format(
                "INTERVAL '%d %02d:%02d:%02d.%03d' DAY TO SECOND(3)",
                seconds / 86_400,
                seconds / 3_600 % 24,
                seconds / 60 % 60,
                seconds % 60,
                millis % 1_000);
    }

    private static final class Rows implements SourceFunction<RowData> {
        private final int stream;
        private volatile boolean isRunning = true;

        Rows(int stream) {
            this.stream = stream;
        }

        @Override
        public void run(SourceContext<RowData> context) {
            bag.begin();
            RowData[] mine = rows[stream];
            long[] ts = times[stream];
            for (int i = 0; i < mine.length && isRunning; i++) {
                context.collectWithTimestamp(mine[i], ts[i] / 1_000);
                if (i % ROWS_PER_WATERMARK == ROWS_PER_WATERMARK - 1) {
                    context.emitWatermark(new Watermark(ts[i] / 1_000));
                }
            }
        }

        @Override
        public void cancel() {
            isRunning = false;
        }
    }

    /** The rules that accept a point, by the cells of a grid. */
    @FunctionHint(output = @DataTypeHint("ROW<id BIGINT>"))
    public static final class Matching extends TableFunction<Row> {
        private transient long[][] cells;
        private transient long side;
        private transient int across;

        private void lay() {
            side = Math.max(1, rules[1][0] - rules[0][0]);
            across = (int) (1_000_000 / side + 1);
            List<List<Long>> found = new ArrayList<>();
            for (int i = 0; i < across * across; i++) found.add(new ArrayList<>());
            for (int i = 0; i < asked.count; i++) {
                for (long x = rules[0][i] / side; x <= rules[1][i] / side; x++) {
                    for (long y = rules[2][i] / side; y <= rules[3][i] / side; y++) {
                        found.get((int) (x * across + y)).add((long) i);
                    }
                }
            }
            cells = new long[found.size()][];
            for (int i = 0; i < cells.length; i++) {
                cells[i] = found.get(i).stream().mapToLong(Long::longValue).toArray();
            }
        }

        public void eval(Long x, Long y) {
            if (cells == null) lay();
            for (long id : cells[(int) (x / side * across + y / side)]) {
                int i = (int) id;
                if (rules[0][i] <= x && x <= rules[1][i] && rules[2][i] <= y && y <= rules[3][i]) {
                    collect(Row.of(id));
                }
            }
        }
    }

    private static final class Counted extends RichSinkFunction<RowData> {
        private final int columns;

        Counted(int columns) {
            this.columns = columns;
        }

        @Override
        public void invoke(RowData row, Context context) {
            if (asked.kind.equals("queries")) {
                shared(row);
                return;
            }
            long hash = 0;
            for (int i = 0; i < columns; i++) {
                hash =
                        asked.hasTextKeys && i == 0
                                ? Case.mix(hash, row.getString(i).toString())
                                : Case.mix(hash, row.getLong(i));
            }
            bag.add(hash);
        }

        private void shared(RowData row) {
            long apart = Math.abs(row.getLong(0) - row.getLong(1));
            for (int i = 0; i < asked.count; i++) {
                if (apart < rules[0][i] && row.getLong(2) < rules[1][i]) {
                    bag.add(Case.mix(Case.mix(Case.mix(0, i), row.getLong(3)), row.getLong(4)));
                }
            }
        }

        @Override
        public void finish() {
            bag.end();
        }
    }
}
