package io.bellows.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class TextTableTest {

    @Test
    void alignsColumnsAndShowsNull() {
        TextTable table = new TextTable(List.of("name", "n"));
        table.add(List.of("a", "12"));
        table.add(Arrays.asList("longer", null));

        assertThat(table.render()).isEqualTo("""
                name    n
                ------  ----
                a       12
                longer  NULL""");
    }

    @Test
    void whatAModelWroteCannotSteerTheTerminal() {
        TextTable table = new TextTable(List.of("text"));
        table.add(List.of("a\u001b[2Jb\nc"));

        assertThat(table.render()).doesNotContain("\u001b").contains("a\uFFFD[2Jb\\nc");
    }
}
