// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.cli;

import org.verbena.cli.Main;
import org.verbena.tests.faults.Undumpable;

/** The {@code verbena} command in a process that others of its user have no ptrace right to. */
final class UndumpableCommand {
    private UndumpableCommand() {}

    public static void main(String[] args) throws Exception {
        Undumpable.become();
        Main.main(args);
    }
}
