package io.bellows.text.jinja;

/** Text inside content that counts as the template's own, such as a role that is one of a few plain words. */
public record TrustedText(String value) {}
