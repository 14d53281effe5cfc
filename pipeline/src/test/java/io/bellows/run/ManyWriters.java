package io.bellows.run;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/** Several writers that create the same file at the same time. */
final class ManyWriters {

    private ManyWriters() {}

    /** Lets them write, each {@link #content} of its own number; returns of each whether it created the file. */
    static List<Boolean> create(FileSystem files, Configuration hadoop, Path file, int count) throws Exception {
        List<Callable<Boolean>> writers = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            byte[] content = content(i).getBytes(StandardCharsets.UTF_8);
            writers.add(() -> AtomicFile.create(files, hadoop, file, content));
        }
        ExecutorService pool = Executors.newFixedThreadPool(4);
        List<Boolean> created = new ArrayList<>();
        for (Future<Boolean> result : pool.invokeAll(writers)) {
            created.add(result.get());
        }
        pool.shutdown();
        return created;
    }

    /** Longer than what is written at once by chance. */
    static String content(int writer) {
        return ("writer " + writer).repeat(1000);
    }
}
