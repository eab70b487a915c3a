// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.netcat;

import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;

import org.verbena.cli.support.CommandException;
import org.verbena.cli.support.Terminal;

/** Standard input and output as bytes, without the buffers of {@link System#in}, which would join what was written apart. */
final class StandardStreams {
    /** Standard output is a pipe that nobody reads any more. */
    static final class ReaderGone extends IOException {
        private static final long serialVersionUID = 1L;

        private ReaderGone(IOException cause) {
            super("nobody reads standard output any more", cause);
        }
    }

    private final FileChannel in;
    private final FileChannel out;

    @SuppressWarnings({"resource", "StreamResourceLeak"}) // they are the process's, and stay open
    StandardStreams() {
        in = new FileInputStream(FileDescriptor.in).getChannel();
        out = new FileOutputStream(FileDescriptor.out).getChannel();
    }

    /** What one read gives, which of a pipe or a terminal is what has come; -1 at the end. */
    int read(ByteBuffer into) throws CommandException {
        try {
            return in.read(into);
        } catch (IOException e) {
            throw new CommandException("standard input cannot be read: " + e.getMessage(), e);
        }
    }

    /** Writes all that remains. */
    void write(ByteBuffer bytes) throws IOException {
        try {
            while (bytes.hasRemaining()) {
                out.write(bytes);
            }
        } catch (IOException e) {
            if (Terminal.OUT.isPipe()) {
                throw new ReaderGone(e);
            }
            throw new CommandException(
                    "standard output cannot be written, some of it is lost: make room there, or write it"
                            + " elsewhere: " + e.getMessage(), e);
        }
    }
}
