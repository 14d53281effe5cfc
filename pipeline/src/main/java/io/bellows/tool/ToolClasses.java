package io.bellows.tool;

import com.google.re2j.Pattern;
import java.util.List;

/** Finds classes named in a configuration, in allowed packages only. */
final class ToolClasses {

    private static final Pattern CLASS_NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*([.$][A-Za-z_][A-Za-z0-9_]*)*");

    private final List<String> packages;

    /** {@code packages}: each with all packages below it. */
    ToolClasses(List<String> packages) {
        this.packages = List.copyOf(packages);
    }

    /**
     * The class of a name, loaded and not yet initialized.
     *
     * @throws IllegalArgumentException when it is not allowed or not there
     */
    Class<?> named(String name) {
        if (name == null || !CLASS_NAME.matches(name)) {
            throw new IllegalArgumentException(
                    "Invalid class_name '" + name + "': expected a Java class such as io.bellows.tool.CalculatorTool");
        }
        if (packages.stream().noneMatch(allowed -> name.startsWith(allowed + "."))) {
            throw new IllegalArgumentException("Unsupported class_name '" + name + "': its package is not among "
                    + packages + "; add it to the packages that tools may come from");
        }
        try {
            return Class.forName(name, false, loader());
        } catch (ClassNotFoundException | LinkageError e) {
            throw new IllegalArgumentException(
                    "Cannot load class_name '" + name + "' (" + e + "): put its jar on the class path", e);
        }
    }

    private static ClassLoader loader() {
        ClassLoader context = Thread.currentThread().getContextClassLoader();
        return context == null ? ToolClasses.class.getClassLoader() : context;
    }
}
