import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.Map;

/** A case: what is asked, and rows as columns of int64. */
final class Case {
    private static final long FACTOR = 0x9E3779B97F4A7C15L;

    final Path folder;
    final String kind;
    final String[] streams;
    final String[] columns;
    final int rows;
    final int count;
    final long windowMicros;
    final boolean hasTextKeys;

    Case(Path folder) throws Exception {
        this.folder = folder;
        Map<String, String> given = new HashMap<>();
        for (String line : Files.readAllLines(folder.resolve("case"))) {
            int at = line.indexOf('=');
            if (at > 0) given.put(line.substring(0, at), line.substring(at + 1));
        }
        kind = given.get("kind");
        streams = given.get("streams").split("");
        columns = given.get("columns").split(",");
        rows = Integer.parseInt(given.get("rows"));
        count = Integer.parseInt(given.get("count"));
        windowMicros = Long.parseLong(given.get("window_us"));
        hasTextKeys = given.get("string_keys").equals("True");
    }

    /** The columns of a stream, ts first; or those of "rules". */
    long[][] read(String stream, int names) throws Exception {
        Path file = folder.resolve(stream + ".columns");
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            ByteBuffer bytes = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size());
            bytes.order(ByteOrder.LITTLE_ENDIAN);
            int size = bytes.remaining() / (names * Long.BYTES);
            long[][] read = new long[names][size];
            for (long[] column : read) {
                for (int i = 0; i < size; i++) column[i] = bytes.getLong();
            }
            return read;
        }
    }

    /** What joins stream i of a chain, a star or a cycle to those before. */
    String equalKeys(int i) {
        String last = kind.equals("star") ? streams[0] + ".k = " : streams[i - 1] + ".j = ";
        boolean closes = kind.equals("cycle") && i == streams.length - 1;
        return last
                + streams[i]
                + ".k"
                + (closes ? " AND " + streams[i] + ".j = " + streams[0] + ".k" : "");
    }

    /** A key as a string of 14 characters. */
    static String text(long key) {
        return String.format("customer%06d", key);
    }

    static long mix(long hash, long value) {
        long h = (hash ^ value) * FACTOR;
        return h ^ (h >>> 32);
    }

    static long mix(long hash, String text) {
        long value = 0;
        for (int i = 0; i < text.length(); i++) value = value * 31 + text.charAt(i);
        return mix(hash, value);
    }

    static long finish(long hash) {
        long h = hash * FACTOR;
        return h ^ (h >>> 32);
    }
}
