package io.bellows.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AtomicFileTest {

    @TempDir
    java.nio.file.Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"file", FaultyFileSystem.SCHEME})
    void theFirstWriterWinsAndTheOthersLeaveNothing(String scheme) throws Exception {
        Configuration hadoop = FaultyFileSystem.register(new Configuration());
        Path file = new Path(scheme + ":" + folder + "/manifest.json");
        FileSystem fileSystem = file.getFileSystem(hadoop);
        List<Callable<Boolean>> writers = new ArrayList<>();
        for (int i = 0; i < 16; i++) {
            byte[] content = ("writer " + i).repeat(1000).getBytes(StandardCharsets.UTF_8);
            writers.add(() -> AtomicFile.create(fileSystem, hadoop, file, content));
        }
        ExecutorService pool = Executors.newFixedThreadPool(4);
        List<Boolean> created = new ArrayList<>();
        for (Future<Boolean> result : pool.invokeAll(writers)) {
            created.add(result.get());
        }
        pool.shutdown();

        assertThat(created).containsOnlyOnce(true);
        String content = Files.readString(folder.resolve("manifest.json"));
        assertThat(content).isEqualTo(("writer " + created.indexOf(true)).repeat(1000));
        assertThat(names()).containsExactly("manifest.json");
    }

    @ParameterizedTest
    @ValueSource(strings = {"file", FaultyFileSystem.SCHEME})
    void replacingNeverLeavesTwoFiles(String scheme) throws IOException {
        Configuration hadoop = FaultyFileSystem.register(new Configuration());
        Path file = new Path(scheme + ":" + folder + "/lease.json");
        AtomicFile.replace(file.getFileSystem(hadoop), file, "first".getBytes(StandardCharsets.UTF_8));
        AtomicFile.replace(file.getFileSystem(hadoop), file, "2".getBytes(StandardCharsets.UTF_8));

        assertThat(folder.resolve("lease.json")).hasContent("2");
        assertThat(names()).containsExactly("lease.json");
    }

    @Test
    void aReplacementThatFailsLeavesNothingBehind() throws IOException {
        Files.createDirectories(folder.resolve("lease.json/occupied"));
        Path file = new Path("file:" + folder + "/lease.json");
        FileSystem fileSystem = file.getFileSystem(new Configuration());

        assertThatThrownBy(() -> AtomicFile.replace(fileSystem, file, new byte[] {1}))
                .isInstanceOf(IOException.class);
        assertThat(names()).containsExactly("lease.json");
    }

    private List<String> names() throws IOException {
        try (var files = Files.list(folder)) {
            return files.map(path -> path.getFileName().toString()).toList();
        }
    }
}
