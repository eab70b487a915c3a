// SPDX-License-Identifier: Apache-2.0
/** What is inside a frame: headers and checksums. Knows nothing of devices and queues. */
@NullMarked
package org.verbena.xdp.packet;

import org.jspecify.annotations.NullMarked;
