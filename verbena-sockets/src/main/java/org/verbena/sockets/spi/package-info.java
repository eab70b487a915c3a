// SPDX-License-Identifier: Apache-2.0
/** What modules above need of a connection beside its bytes. Exported to Verbena's own modules alone. */
@org.jspecify.annotations.NullMarked
package org.verbena.sockets.spi;
