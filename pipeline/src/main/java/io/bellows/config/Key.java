package io.bellows.config;

import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * One configuration key, as the table of defaults shows it.
 *
 * @param name full name, such as {@code data.train_batch_size}
 * @param defaultValue YAML text of the default
 * @param about its meaning in a sentence
 * @param onResume whether a run may continue with another value
 */
public record Key(String name, String defaultValue, String about, OnResume onResume) {

    static List<Key> all(Class<? extends Record> root) {
        List<Key> keys = new ArrayList<>();
        collect(root, "", keys);
        return List.copyOf(keys);
    }

    static String nameOf(RecordComponent component) {
        return component.getName().replaceAll("([a-z0-9])([A-Z])", "$1_$2").toLowerCase(Locale.ROOT);
    }

    private static void collect(Class<?> type, String prefix, List<Key> keys) {
        for (RecordComponent component : type.getRecordComponents()) {
            String name = prefix + nameOf(component);
            Setting setting = component.getAnnotation(Setting.class);
            if (setting != null) {
                keys.add(new Key(name, setting.value(), setting.about(), setting.onResume()));
            } else if (component.getType().isRecord()) {
                collect(component.getType(), name + ".", keys);
            } else if (type == SparkSection.class) {
                keys.add(new Key("spark.*", "{}", "Any property of Spark", OnResume.FREE));
            }
        }
    }
}
