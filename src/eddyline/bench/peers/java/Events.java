import java.util.ArrayList;
import java.util.List;

/** Rows as Esper takes them: beans. */
public final class Events {
    private Events() {}

    /** A row with a number as its key. */
    public static class Row {
        private final long ts;
        private final long k;
        private final long v;

        Row(long ts, long k, long v) {
            this.ts = ts;
            this.k = k;
            this.v = v;
        }

        public long getTs() {
            return ts;
        }

        public long getK() {
            return k;
        }

        public long getV() {
            return v;
        }
    }

    /** A row with a string as its key. */
    public static class Text {
        private final long ts;
        private final String k;
        private final long v;

        Text(long ts, String k, long v) {
            this.ts = ts;
            this.k = k;
            this.v = v;
        }

        public long getTs() {
            return ts;
        }

        public String getK() {
            return k;
        }

        public long getV() {
            return v;
        }
    }

    /** A row with two keys. */
    public static class Link extends Row {
        private final long j;

        Link(long ts, long k, long j, long v) {
            super(ts, k, v);
            this.j = j;
        }

        public long getJ() {
            return j;
        }
    }

    /** A row with a key and a number to compare. */
    public static class Valued extends Row {
        private final long x;

        Valued(long ts, long k, long x, long v) {
            super(ts, k, v);
            this.x = x;
        }

        public long getX() {
            return x;
        }
    }

    /** A rule in one of the cells that it covers. */
    public static class Rule {
        private final long id;
        private final long cell;
        private final long[] ends;

        Rule(long id, long cell, long... ends) {
            this.id = id;
            this.cell = cell;
            this.ends = ends;
        }

        public long getId() {
            return id;
        }

        public long getCell() {
            return cell;
        }

        public long getX0() {
            return ends[0];
        }

        public long getX1() {
            return ends[1];
        }

        public long getY0() {
            return ends[2];
        }

        public long getY1() {
            return ends[3];
        }
    }

    static long cell(long x, long y) {
        return x * 1_000_000 + y;
    }

    /** The rules by cell; a rule is in each cell that it covers a part of. */
    static List<Rule> rules(long[][] r, long side) {
        List<Rule> found = new ArrayList<>();
        for (int i = 0; i < r[0].length; i++) {
            for (long x = r[0][i] / side; x <= r[1][i] / side; x++) {
                for (long y = r[2][i] / side; y <= r[3][i] / side; y++) {
                    found.add(new Rule(i, cell(x, y), r[0][i], r[1][i], r[2][i], r[3][i]));
                }
            }
        }
        return found;
    }

    /** A point. */
    public static class Point {
        private final long ts;
        private final long x;
        private final long y;
        private final long v;
        private final long cell;

        Point(long ts, long x, long y, long v, long side) {
            this.ts = ts;
            this.cell = Events.cell(x / side, y / side);
            this.x = x;
            this.y = y;
            this.v = v;
        }

        public long getTs() {
            return ts;
        }

        public long getX() {
            return x;
        }

        public long getY() {
            return y;
        }

        public long getCell() {
            return cell;
        }

        public long getV() {
            return v;
        }
    }

    /** The rows of a stream. */
    static Object[] read(Case asked, String stream, long side) throws Exception {
        long[][] c = asked.read(stream, 1 + asked.columns.length);
        Object[] rows = new Object[asked.rows];
        for (int i = 0; i < rows.length; i++) {
            rows[i] =
                    switch (asked.kind) {
                        case "chain", "star", "cycle" -> new Link(c[0][i], c[1][i], c[2][i], c[3][i]);
                        case "queries" -> new Valued(c[0][i], c[1][i], c[2][i], c[3][i]);
                        case "rules" -> new Point(c[0][i], c[1][i], c[2][i], c[3][i], side);
                        default ->
                                asked.hasTextKeys
                                        ? new Text(c[0][i], Case.text(c[1][i]), c[2][i])
                                        : new Row(c[0][i], c[1][i], c[2][i]);
                    };
        }
        return rows;
    }

    static Class<?> type(Case asked) {
        return switch (asked.kind) {
            case "chain", "star", "cycle" -> Link.class;
            case "queries" -> Valued.class;
            case "rules" -> Point.class;
            default -> asked.hasTextKeys ? Text.class : Row.class;
        };
    }
}
