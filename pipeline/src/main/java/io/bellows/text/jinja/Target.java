package io.bellows.text.jinja;

import java.util.List;

/** What a value is assigned to: a name, several, or an attribute of a namespace. */
sealed interface Target {

    void assign(Object value, Frame frame);

    record Variable(String name) implements Target {
        @Override
        public void assign(Object value, Frame frame) {
            frame.set(name, value);
        }
    }

    record Several(List<Target> targets) implements Target {
        @Override
        public void assign(Object value, Frame frame) {
            List<Object> items = Sequences.items(value);
            if (items.size() != targets.size()) {
                throw new OperationException(
                        "Cannot assign " + items.size() + " values to " + targets.size() + " names");
            }
            for (int i = 0; i < items.size(); i++) {
                targets.get(i).assign(items.get(i), frame);
            }
        }
    }

    record NamespaceAttribute(String namespace, String attribute) implements Target {
        @Override
        public void assign(Object value, Frame frame) {
            if (!(frame.get(namespace) instanceof Namespace owner)) {
                throw new OperationException(
                        "Cannot set '" + namespace + "." + attribute + "': '" + namespace + "' is no namespace");
            }
            owner.set(attribute, value);
        }
    }
}
