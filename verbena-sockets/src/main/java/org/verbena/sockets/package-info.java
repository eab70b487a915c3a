/** What programs see of the sockets: the selector provider, channels to ask for, options. */
package org.verbena.sockets;
