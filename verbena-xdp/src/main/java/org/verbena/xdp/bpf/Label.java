// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp.bpf;

/**
 * A place in a program that is jumped to; {@link Assembler#place} says where. It belongs to one assembler.
 */
public final class Label {
    private final String name;

    /**
     * Makes a label.
     *
     * @param name for messages
     */
    public Label(String name) {
        this.name = name;
    }

    @Override
    public String toString() {
        return name;
    }
}
