package io.bellows.data;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.bellows.text.Message;
import java.util.Comparator;
import java.util.List;
import org.apache.spark.SparkConf;
import org.apache.spark.serializer.KryoSerializer;
import org.apache.spark.serializer.SerializerInstance;
import org.apache.spark.sql.Row;
import org.junit.jupiter.api.Test;
import scala.reflect.ClassTag$;

class PromptRowTest {

    private static final PromptReader.Prompt PROMPT = new PromptReader.Prompt(
            "set", List.of(Message.of("user", "2+2=")), null, "4", JsonNodeFactory.instance.objectNode(), null, null);

    @Test
    void rowsTravelOnClustersThatUseKryo() {
        SerializerInstance kryo = new KryoSerializer(new SparkConf(false)).newInstance();
        PromptRow row = PromptRow.good(new PromptRow.Place(2, 7), "abc:7", PROMPT, 4);
        PromptRow read = kryo.deserialize(
                kryo.serialize(row, ClassTag$.MODULE$.apply(PromptRow.class)),
                ClassTag$.MODULE$.apply(PromptRow.class));
        assertThat(read.place()).isEqualTo(row.place());
        assertThat(read.promptHash()).isEqualTo(row.promptHash());
        assertThat(read.numbered(3).get(0)).isEqualTo("abc:7");
        assertThat((Row[]) read.numbered(3).get(3)).containsExactly(PromptSchema.row(Message.of("user", "2+2=")));
    }

    @Test
    void theOrderOfPlacesIsTheOrderOfTheDataset() {
        assertThat(List.of(new PromptRow.Place(1, 0), new PromptRow.Place(0, 10), new PromptRow.Place(0, 9)))
                .isSortedAccordingTo(Comparator.reverseOrder());
    }
}
