// SPDX-License-Identifier: Apache-2.0
/** What programs see of the sockets: the selector provider, channels to ask for, options. */
package org.verbena.sockets;
