import com.sun.management.OperatingSystemMXBean;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;

/** The line protocol of a peer, as {@code programs/serve.py} describes it. */
final class Serve {
    /** Prepares a run, which is not measured, and gives what is. */
    interface Preparer {
        Run prepare(String form) throws Exception;
    }

    /** A run from an empty state over all rows. */
    interface Run {
        /** Adds its results to the bag. */
        void run(Bag bag) throws Exception;

        /** Whether it calls {@link Bag#begin} and {@link Bag#end} itself. */
        default boolean marksItsTime() {
            return false;
        }

        default void close() throws Exception {}
    }

    /** A bag of results: how many, and the sum of their hashes. */
    static final class Bag {
        long rows;
        long hashes;
        private long began;
        private long beganCpu;
        private long wall;
        private long cpu;

        /** What is measured begins here; only the first call counts. */
        synchronized void begin() {
            if (began > 0) return;
            beganCpu = SYSTEM.getProcessCpuTime();
            began = System.nanoTime();
        }

        /** What is measured ends here. */
        synchronized void end() {
            if (wall > 0) return;
            wall = System.nanoTime() - began;
            cpu = SYSTEM.getProcessCpuTime() - beganCpu;
        }

        void add(long hash) {
            rows++;
            hashes += Case.finish(hash);
        }

        void remove(long hash) {
            rows--;
            hashes -= Case.finish(hash);
        }
    }

    private static final OperatingSystemMXBean SYSTEM =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    private Serve() {}

    static void serve(PrintStream out, Preparer preparer) throws Exception {
        out.println("ready");
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            Run run = preparer.prepare(line.substring(line.indexOf(' ') + 1));
            Bag bag = new Bag();
            System.gc();
            if (!run.marksItsTime()) bag.begin();
            run.run(bag);
            bag.end();
            run.close();
            String hashes = Long.toUnsignedString(bag.hashes);
            out.println(bag.rows + " " + hashes + " " + bag.wall + " " + bag.cpu);
        }
    }
}
