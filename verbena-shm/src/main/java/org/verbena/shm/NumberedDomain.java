// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

/** A protection domain as its regions know it: by the number that keys and queue pairs carry. */
interface NumberedDomain {
    int index();
}
