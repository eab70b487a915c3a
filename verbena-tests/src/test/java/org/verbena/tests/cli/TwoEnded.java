// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;

/**
 * A command that is either a server or a client, whose arguments are given as one line.
 *
 * @param command its name, and arguments that both ends have
 * @param indent how the line begins in which a server prints where it listens
 */
record TwoEnded(String command, String indent) {
    private static final String LISTENING = "listening on ";

    String[] words(String arguments) {
        return (command + " " + arguments).strip().split(" +");
    }

    /** Starts a server that does not have to have a process of its own. */
    CommandProcess server(String arguments) throws IOException {
        return CommandProcess.server(words(arguments));
    }

    /** Starts a client that is in another process than each server, but does not have to have one of its own. */
    CommandProcess client(String arguments) throws IOException {
        return CommandProcess.client(words(arguments));
    }

    /** Starts one of the ends in a process of its own. */
    CommandProcess start(String arguments) throws IOException {
        return CommandProcess.start(words(arguments));
    }

    /** Runs the command in this process, for wrong usage. */
    CommandProcess.Result refuse(String arguments) {
        return CommandProcess.refuse(words(arguments));
    }

    /** The port of a server that prints it in some line. */
    String port(CommandProcess server) throws IOException {
        String beginning = indent + LISTENING + "port ";
        String line = server.line();
        while (!line.startsWith(beginning)) {
            line = server.line();
        }
        return line.substring(beginning.length());
    }

    /**
     * The options of the client of a server that prints its address in its next line; if it listens on all addresses, that of this
     * host.
     *
     * @param host the words before the host
     */
    String to(CommandProcess server, String host) throws IOException {
        String line = server.line();
        assertThat(line).startsWith(indent + LISTENING);
        int colon = line.lastIndexOf(':');
        String address = line.substring((indent + LISTENING).length(), colon);
        return host + " " + (address.equals("0.0.0.0") ? "127.0.0.1" : address) + " -p " + line.substring(colon + 1)
                + " ";
    }
}
