// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

import org.verbena.verbs.Device;
import org.verbena.verbs.Verbs;
import org.verbena.verbs.VerbsException;

/** Prints the devices and the problems, and the result of opening each device. */
final class ListProgram {
    private ListProgram() {}

    public static void main(String[] args) {
        for (Device d : Verbs.devices()) {
            try {
                d.open().close();
                System.out.println("device " + d.name());
            } catch (VerbsException e) {
                System.out.println("device " + d.name() + " cannot be opened: " + e.getMessage());
            }
        }
        Verbs.problems().forEach(p -> System.out.println("problem: " + p));
    }
}
