import com.espertech.esper.common.client.EPCompiled;
import com.espertech.esper.common.client.EventSender;
import com.espertech.esper.common.client.configuration.Configuration;
import com.espertech.esper.compiler.client.CompilerArguments;
import com.espertech.esper.compiler.client.EPCompilerProvider;
import com.espertech.esper.runtime.client.DeploymentOptions;
import com.espertech.esper.runtime.client.EPEventService;
import com.espertech.esper.runtime.client.EPRuntime;
import com.espertech.esper.runtime.client.EPRuntimeProvider;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Esper: compiled EPL, no locks, no threads of its own, results to subscribers, and a clock that the
 * rows' own timestamps drive, in microseconds.
 */
public final class EsperPeer {
    private final Case asked;
    private final Object[][] rows;
    private final long[] times;
    private final long[][] rules;
    private final long side;

    private EsperPeer(Case asked) throws Exception {
        this.asked = asked;
        rows = new Object[asked.streams.length][];
        side = Math.max(1, (long) (1_000_000 / Math.sqrt(Math.max(asked.count, 4))));
        times = new long[asked.rows * rows.length];
        for (int s = 0; s < rows.length; s++) {
            rows[s] = Events.read(asked, asked.streams[s], side);
            long[] ts = asked.read(asked.streams[s], 1 + asked.columns.length)[0];
            for (int i = 0; i < ts.length; i++) times[i * rows.length + s] = ts[i];
        }
        rules =
                switch (asked.kind) {
                    case "rules" -> asked.read("rules", 4);
                    case "queries" -> asked.read("rules", 2);
                    default -> new long[0][];
                };
    }

    public static void main(String[] arguments) throws Exception {
        PrintStream out = System.out;
        System.setOut(System.err);
        EsperPeer peer = new EsperPeer(new Case(Path.of(arguments[0])));
        Serve.serve(out, peer::prepare);
    }

    private Serve.Run prepare(String form) throws Exception {
        Configuration configuration = new Configuration();
        configuration.getCommon().addEventType("Rule", Events.Rule.class);
        for (String stream : asked.streams) {
            configuration.getCommon().addEventType(stream.toUpperCase(), Events.type(asked));
        }
        configuration.getCommon().getTimeSource().setTimeUnit(TimeUnit.MICROSECONDS);
        configuration.getCompiler().getByteCode().setAllowSubscriber(true);
        configuration.getRuntime().getThreading().setInternalTimerEnabled(false);
        configuration.getRuntime().getThreading().setListenerDispatchPreserveOrder(false);
        configuration.getRuntime().getThreading().setInsertIntoDispatchPreserveOrder(false);
        configuration.getRuntime().getExecution().setDisableLocking(true);
        EPRuntime runtime = EPRuntimeProvider.getRuntime("peer", configuration);
        runtime.getEventService().advanceTime(0);
        List<Sink> sinks = deploy(runtime, configuration, form);
        if (form.equals("cells")) {
            EventSender sender = runtime.getEventService().getEventSender("Rule");
            for (Object rule : Events.rules(rules, side)) sender.sendEvent(rule);
        }
        return new Serve.Run() {
            @Override
            public void run(Serve.Bag bag) {
                for (Sink sink : sinks) sink.bag = bag;
                boolean isOver = sinks.get(0) instanceof Arrivals;
                Arrivals arrivals = isOver ? (Arrivals) sinks.get(0) : null;
                feed(runtime.getEventService(), clock(form), arrivals);
            }

            @Override
            public void close() {
                runtime.destroy();
            }
        };
    }

    private String clock(String form) {
        if (asked.kind.equals("rules") || form.equals("ext_timed")) return "none";
        return switch (asked.kind) {
            case "groups", "distinct" -> "steps";
            default -> "jumps";
        };
    }

    private void feed(EPEventService service, String clock, Arrivals arrivals) {
        EventSender[] senders = new EventSender[rows.length];
        for (int s = 0; s < rows.length; s++) {
            senders[s] = service.getEventSender(asked.streams[s].toUpperCase());
        }
        int at = 0;
        for (int i = 0; i < asked.rows; i++) {
            for (int s = 0; s < rows.length; s++, at++) {
                switch (clock) {
                    case "jumps" -> service.advanceTime(times[at]);
                    case "steps" -> service.advanceTimeSpan(times[at]);
                    default -> {}
                }
                if (arrivals != null) arrivals.arriving = (Events.Row) rows[s][i];
                senders[s].sendEvent(rows[s][i]);
            }
        }
    }

    private List<Sink> deploy(EPRuntime runtime, Configuration configuration, String form)
            throws Exception {
        List<Sink> sinks = new ArrayList<>();
        boolean many = form.equals("filters") || form.equals("statements");
        int statements = many ? asked.count : 1;
        EPCompiled compiled =
                EPCompilerProvider.getCompiler()
                        .compile(text(form), new CompilerArguments(configuration));
        for (int i = 0; i < statements; i++) {
            int number = i;
            DeploymentOptions options = new DeploymentOptions();
            if (many) {
                options.setStatementSubstitutionParameter(
                        context -> {
                            for (int p = 0; p < rules.length; p++) {
                                context.setObject("p" + p, rules[p][number]);
                            }
                        });
            }
            Sink sink = sink(runtime.getEventService(), number, form);
            sinks.add(sink);
            runtime.getDeploymentService().deploy(compiled, options).getStatements()[0].setSubscriber(
                    sink);
        }
        return sinks;
    }

    private String text(String form) {
        String window =
                form.equals("ext_timed")
                        ? "#ext_timed(ts, " + asked.windowMicros + " microseconds)"
                        : "#time(" + asked.windowMicros + " microseconds)";
        String near = form.equals("ext_timed") ? near() : "";
        return switch (asked.kind) {
            case "join" ->
                    "select a.k as k, a.v as av, b.v as bv from A"
                            + window
                            + " as a, B"
                            + window
                            + " as b where a.k = b.k"
                            + near;
            case "groups", "over" -> "select k, count(*) as n, sum(v) as t from S" + window + " group by k";
            case "distinct" ->
                    "select irstream k, count(*) as n from S" + window + " group by k";
            case "rules" ->
                    form.equals("cells")
                            ? "select id, v from S as s unidirectional, Rule#keepall as r where s.cell ="
                                    + " r.cell and s.x between r.x0 and r.x1 and s.y between r.y0 and"
                                    + " r.y1"
                            : "select v from S(x between ?:p0:long and ?:p1:long and y between ?:p2:long and"
                            + " ?:p3:long)";
            case "queries" -> queries(form, window);
            case "chain", "star", "cycle" -> chain(window, near);
            default -> throw new IllegalArgumentException(asked.kind);
        };
    }

    private String queries(String form, String window) {
        if (form.equals("statements")) {
            return "select a.v as av, b.v as bv from A(x < ?:p1:long)#time(?:p0:long microseconds) as a,"
                    + " B#time(?:p0:long microseconds) as b where a.k = b.k";
        }
        return "select a.ts as ats, b.ts as bts, a.x as x, a.v as av, b.v as bv from A"
                + window
                + " as a, B"
                + window
                + " as b where a.k = b.k";
    }

    private String chain(String window, String near) {
        StringBuilder select = new StringBuilder();
        StringBuilder from = new StringBuilder();
        StringBuilder where = new StringBuilder();
        for (int i = 0; i < rows.length; i++) {
            String s = asked.streams[i];
            String comma = i == 0 ? "" : ", ";
            select.append(comma).append(s).append(".v as ").append(s).append("v");
            from.append(comma).append(s.toUpperCase()).append(window).append(" as ").append(s);
            if (i == 0) continue;
            String and = i == 1 ? "" : " and ";
            where.append(and).append(asked.equalKeys(i));
        }
        return "select " + select + " from " + from + " where " + where + near;
    }

    /** What windows that only their own stream moves leave to be checked. */
    private String near() {
        StringBuilder near = new StringBuilder();
        for (int i = 0; i < rows.length; i++) {
            for (int j = 0; j < i; j++) {
                near.append(" and Math.abs(")
                        .append(asked.streams[i])
                        .append(".ts - ")
                        .append(asked.streams[j])
                        .append(".ts) < ")
                        .append(asked.windowMicros);
            }
        }
        return near.toString();
    }

    private Sink sink(EPEventService service, int number, String form) {
        return switch (asked.kind) {
            case "join" -> asked.hasTextKeys ? new TextPairs() : new Pairs();
            case "groups" -> new Groups(service);
            case "over" -> new Arrivals();
            case "distinct" -> new Values(service);
            case "rules" -> form.equals("cells") ? new Alerts() : new Numbered(number);
            case "queries" -> form.equals("statements") ? new Numbered(number) : new Shared(rules);
            default -> rows.length == 3 ? new Triples() : new Many();
        };
    }

    /** Adds up results; its update method is called by compiled code. */
    public abstract static class Sink {
        Serve.Bag bag;
    }

    public static final class Pairs extends Sink {
        public void update(long k, long a, long b) {
            bag.add(Case.mix(Case.mix(Case.mix(0, k), a), b));
        }
    }

    public static final class TextPairs extends Sink {
        public void update(String k, long a, long b) {
            bag.add(Case.mix(Case.mix(Case.mix(0, k), a), b));
        }
    }

    public static final class Triples extends Sink {
        public void update(long a, long b, long c) {
            bag.add(Case.mix(Case.mix(Case.mix(0, a), b), c));
        }
    }

    public static final class Many extends Sink {
        public void update(Object[] row) {
            long hash = 0;
            for (Object value : row) hash = Case.mix(hash, (long) value);
            bag.add(hash);
        }
    }

    public static final class Groups extends Sink {
        private final EPEventService service;

        Groups(EPEventService service) {
            this.service = service;
        }

        public void update(long k, long n, Long sum) {
            if (n == 0) return;
            long now = service.getCurrentTime();
            bag.add(Case.mix(Case.mix(Case.mix(Case.mix(0, now), k), n), sum));
        }
    }

    /** Of the groups that a row changes by coming, and others by leaving, its own. */
    public static final class Arrivals extends Sink {
        private Events.Row arriving;

        public void update(long k, long n, Long sum) {
            if (k != arriving.getK()) return;
            bag.add(Case.mix(Case.mix(Case.mix(Case.mix(0, arriving.getTs()), k), n), sum));
        }
    }

    /** A value has come, or has gone, when its count was or is nought. */
    public static final class Values extends Sink {
        private final EPEventService service;

        Values(EPEventService service) {
            this.service = service;
        }

        public void update(long k, long n) {
            if (n == 0) bag.remove(Case.mix(Case.mix(0, service.getCurrentTime()), k));
        }

        public void updateRStream(long k, long n) {
            if (n == 0) bag.add(Case.mix(Case.mix(0, service.getCurrentTime()), k));
        }
    }

    public static final class Numbered extends Sink {
        private final long number;

        Numbered(long number) {
            this.number = number;
        }

        public void update(long v) {
            bag.add(Case.mix(Case.mix(0, number), v));
        }

        public void update(long a, long b) {
            bag.add(Case.mix(Case.mix(Case.mix(0, number), a), b));
        }
    }

    public static final class Alerts extends Sink {
        public void update(long id, long v) {
            bag.add(Case.mix(Case.mix(0, id), v));
        }
    }

    /** The pairs of the longest window, of which each query takes its own. */
    public static final class Shared extends Sink {
        private final long[] windows;
        private final long[] limits;

        Shared(long[][] rules) {
            windows = rules[0];
            limits = rules[1];
        }

        public void update(long ats, long bts, long x, long a, long b) {
            long apart = Math.abs(ats - bts);
            for (int i = 0; i < windows.length; i++) {
                if (apart < windows[i] && x < limits[i]) {
                    bag.add(Case.mix(Case.mix(Case.mix(0, i), a), b));
                }
            }
        }
    }
}
