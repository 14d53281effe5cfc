package io.bellows.config;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Gives one key of a section another default than its {@link Setting} says, for a record that several sections share. */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.RECORD_COMPONENT)
@interface OtherDefault {

    /** The key's name within the section. */
    String key();

    /** The default, written as YAML. */
    String value();
}
