// SPDX-License-Identifier: Apache-2.0
/** IP and UDP in user space, over queue pairs for raw packets. */
@org.jspecify.annotations.NullMarked module org.verbena.stack {
    requires static org.jspecify;
    requires transitive org.verbena.verbs;
    requires org.verbena.linux;

    exports org.verbena.stack;
}
