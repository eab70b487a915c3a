// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

import java.nio.file.Path;

import org.verbena.verbs.Device;
import org.verbena.verbs.VerbsException;

/** Prints the devices, or why there is none, with the folder KERNEL in place of the kernel's class. */
final class KernelProgram {
    private KernelProgram() {}

    public static void main(String[] args) {
        try {
            System.out.println(new RdmaProvider(Path.of(System.getenv("KERNEL"))).devices().stream().map(Device::name)
                    .toList());
        } catch (VerbsException e) {
            System.out.println(e.getMessage());
        }
    }
}
