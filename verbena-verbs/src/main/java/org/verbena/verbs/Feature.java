package org.verbena.verbs;

/**
 * Identifiers for {@link Context#supports(String)}. They are plain strings that the compiler copies into the
 * application, so that an application may ask any version of Verbena for a feature which that version has never heard
 * of, and is told no.
 */
public final class Feature {
    /** Queue pairs of type RC. */
    public static final String RC = "qp.rc";
    /** Compare-and-swap and fetch-and-add. */
    public static final String ATOMICS = "atomics";
    /** {@link CompletionQueue#timestamp()}. */
    public static final String COMPLETION_TIMESTAMP = "cq.timestamp";
    /** {@link Context#queryValues}. */
    public static final String QUERY_VALUES = "query_values";
    /** {@link Context#connectionManager()}. */
    public static final String CONNECTION_MANAGER = "cm";
    /** {@link ProtectionDomain#allocate}. */
    public static final String ALLOCATE = "mr.allocate";

    private Feature() {}
}
