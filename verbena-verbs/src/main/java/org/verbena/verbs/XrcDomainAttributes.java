// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import java.nio.file.Path;

import org.jspecify.annotations.Nullable;

/** Which domain to open, {@code struct ibv_xrcd_init_attr}: both attributes are needed. Immutable. */
public final class XrcDomainAttributes {
    /** Bit of {@link #compMask()}: {@link Builder#fd} or {@link Builder#file} was set. */
    public static final int FD = 1;
    /** Bit of {@link #compMask()}: {@link Builder#openFlags} was set. */
    public static final int OFLAGS = 1 << 1;

    /** Of {@link #openFlags()}, {@code O_CREAT}: create the domain if the file has none. */
    public static final int CREATE = 0100;
    /** Of {@link #openFlags()}, {@code O_EXCL}: fail if the file has one. */
    public static final int EXCLUSIVE = 0200;

    /** Flags of this version. */
    static final int KNOWN_FLAGS = CREATE | EXCLUSIVE;

    private static final Flags NAMES = new Flags("FD", "OFLAGS");
    private static final Flags FLAGS = new Flags().and(CREATE, "CREATE").and(EXCLUSIVE, "EXCLUSIVE");

    private final int compMask;
    private final int fd;
    private final @Nullable Path file;
    private final int openFlags;

    private XrcDomainAttributes(Builder b) {
        compMask = b.compMask;
        fd = b.fd;
        file = b.file;
        openFlags = b.openFlags;
    }

    /** A builder. */
    public static Builder builder() {
        return new Builder();
    }

    /** Which attributes were set, see {@link CompMask}. */
    public int compMask() {
        return compMask;
    }

    /** True if an attribute was set. */
    public boolean has(int bit) {
        return (compMask & bit) != 0;
    }

    /**
     * A descriptor of the file that the domain goes by; -1 for a private one. What a provider is given always has the
     * descriptor if there is a file; it is open until the call returns.
     */
    public int fd() {
        return fd;
    }

    /** The file that the domain goes by; null if it was given as a descriptor, or not at all. */
    public @Nullable Path file() {
        return file;
    }

    /** {@link #CREATE} and {@link #EXCLUSIVE}. */
    public int openFlags() {
        return openFlags;
    }

    /** The same with a descriptor of the file. */
    XrcDomainAttributes on(int descriptor) {
        Builder b = builder().openFlags(openFlags);
        b.file = file;
        b.fd = descriptor;
        b.compMask = compMask;
        return new XrcDomainAttributes(b);
    }

    /** The names of attribute bits. */
    static String names(int mask) {
        return NAMES.toString(mask);
    }

    /** The names of open flags. */
    static String flagNames(int flags) {
        return FLAGS.toString(flags);
    }

    @Override
    public String toString() {
        return AttributeText.of(this);
    }

    /** Collects the attributes. Not safe for use by several threads. */
    public static final class Builder {
        private int compMask;
        private int fd = -1;
        private @Nullable Path file;
        private int openFlags;

        private Builder() {}

        /**
         * The file that identifies the domain: all contexts that open it by the same file, under whatever name, share
         * one domain. Nothing is read or written. The descriptor stays the caller's and may be closed once the domain
         * is open.
         *
         * @param descriptor an open one; -1 for a domain that cannot be shared
         */
        public Builder fd(int descriptor) {
            fd = descriptor;
            file = null;
            compMask |= FD;
            return this;
        }

        /**
         * As {@link #fd}, by a path of the default file system. The file must be there, be a regular one, and the
         * process must be allowed to read it.
         */
        public Builder file(Path path) {
            file = path;
            fd = -1;
            compMask |= FD;
            return this;
        }

        /** {@link #CREATE}, {@link #EXCLUSIVE}, both or 0. Of no meaning to a private domain. */
        public Builder openFlags(int flags) {
            openFlags = flags;
            compMask |= OFLAGS;
            return this;
        }

        /** Makes the attributes. */
        public XrcDomainAttributes build() {
            return new XrcDomainAttributes(this);
        }
    }
}
