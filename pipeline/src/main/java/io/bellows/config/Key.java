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
        collect(root, "", null, keys);
        return List.copyOf(keys);
    }

    static String nameOf(RecordComponent component) {
        return component.getName().replaceAll("([a-z0-9])([A-Z])", "$1_$2").toLowerCase(Locale.ROOT);
    }

    private static void collect(Class<?> type, String prefix, OtherDefault other, List<Key> keys) {
        for (RecordComponent component : type.getRecordComponents()) {
            String key = nameOf(component);
            String name = prefix + key;
            Setting setting = component.getAnnotation(Setting.class);
            if (setting != null) {
                String value = other != null && other.key().equals(key) ? other.value() : setting.value();
                keys.add(new Key(name, value, setting.about(), setting.onResume()));
            } else if (component.getType().isRecord()) {
                collect(component.getType(), name + ".", component.getAnnotation(OtherDefault.class), keys);
            } else if (type == SparkSection.class) {
                keys.add(new Key("spark.*", "{}", "Any property of Spark", OnResume.FREE));
            }
        }
    }
}
