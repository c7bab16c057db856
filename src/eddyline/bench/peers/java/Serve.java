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

        default void close() throws Exception {}
    }

    /** A bag of results: how many, and the sum of their hashes. */
    static final class Bag {
        long rows;
        long hashes;

        void add(long hash) {
            rows++;
            hashes += Case.finish(hash);
        }

        void remove(long hash) {
            rows--;
            hashes -= Case.finish(hash);
        }
    }

    private Serve() {}

    static void serve(PrintStream out, Preparer preparer) throws Exception {
        OperatingSystemMXBean system =
                (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        out.println("ready");
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            Run run = preparer.prepare(line.substring(line.indexOf(' ') + 1));
            Bag bag = new Bag();
            System.gc();
            long cpu = system.getProcessCpuTime();
            long began = System.nanoTime();
            run.run(bag);
            long wall = System.nanoTime() - began;
            cpu = system.getProcessCpuTime() - cpu;
            run.close();
            out.println(bag.rows + " " + Long.toUnsignedString(bag.hashes) + " " + wall + " " + cpu);
        }
    }
}
