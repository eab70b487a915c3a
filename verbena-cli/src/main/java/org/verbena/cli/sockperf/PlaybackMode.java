// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.sockperf;

import java.io.IOException;
import java.nio.file.Path;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code verbena sockperf playback}. */
@Command(name = "playback", aliases = "pb", sortOptions = false, description = {
    "Sends messages at the times and of the lengths that a file has, and measures how long answers take."})
final class PlaybackMode extends ClientCommand {
    @Mixin private ReplyOptions reply = new ReplyOptions();

    @Option(names = "--data-file", paramLabel = "FILE", required = true,
            description = "Lines SECONDS, BYTES in the order of time; # begins a comment.") private Path file = Path.of(
                    "");

    @Override
    Plan plan() throws IOException {
        Playback p = Playback.read(file);
        Times.requireRoom((double) p.count() / reply.every());
        return new Plan(Plan.Mode.PLAYBACK, Message.HEADER_BYTES, 0, 1, 0, reply.every(), 0, p.count(), false, p);
    }
}
