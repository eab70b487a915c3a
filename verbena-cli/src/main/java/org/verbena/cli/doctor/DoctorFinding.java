// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.doctor;

import java.util.Objects;
import java.util.concurrent.ExecutionException;

import org.verbena.linux.Errno;
import org.verbena.linux.LinuxException;
import org.verbena.verbs.VerbsException;

/**
 * The finding of a check.
 *
 * @param verdict how far it works
 * @param evidence what was tried, and what it answered
 * @param remedy what to do; empty if there is nothing to do
 */
record DoctorFinding(DoctorVerdict verdict, String evidence, String remedy) {
    static final String NATIVE_ACCESS = "start java with --enable-native-access=org.verbena.linux, as ./verbena does";

    private static final String MORE_FILES = "raise the limit of open files: ulimit -n 4096";
    private static final String REPORT = "run it again with VERBENA_DEBUG=1 and report what it prints";

    static DoctorFinding ok(String evidence) {
        return new DoctorFinding(DoctorVerdict.OK, evidence, "");
    }

    static DoctorFinding limited(String evidence, String remedy) {
        return new DoctorFinding(DoctorVerdict.LIMITED, evidence, remedy);
    }

    static DoctorFinding no(String evidence, String remedy) {
        return new DoctorFinding(DoctorVerdict.NO, evidence, remedy);
    }

    /** A failed attempt, with the usual remedy for its errno. */
    static DoctorFinding failed(Throwable failure) {
        return failure instanceof IllegalCallerException
                ? no("not tried: native access is denied", "see native")
                : no(sentence(failure), remedy(failure));
    }

    /** A failed attempt, with a specific remedy unless the cause is a general one. */
    static DoctorFinding failed(Throwable failure, String remedy) {
        return switch (errno(failure)) {
            case Errno.EMFILE, Errno.ENFILE, Errno.ENOMEM, Errno.ENOSPC -> failed(failure);
            default -> no(sentence(failure), remedy);
        };
    }

    /** The message of a failure, in one line. */
    static String sentence(Throwable failure) {
        if (failure instanceof ExecutionException && failure.getCause() != null) {
            return sentence(failure.getCause());
        }
        String message = Objects.requireNonNullElse(failure.getMessage(), "").strip().replaceAll("\\s*\\R\\s*", "; ");
        boolean ours = failure instanceof LinuxException || failure instanceof VerbsException
                || failure instanceof DoctorChild.Failed;
        return ours && !message.isEmpty()
                ? message
                : failure.getClass().getSimpleName() + (message.isEmpty() ? "" : ": " + message);
    }

    /** The errno of a failure or of its cause; 0 if there is none. */
    static int errno(Throwable failure) {
        int depth = 0;
        for (Throwable t = failure; t != null && depth < 10; t = t.getCause(), depth++) {
            if (t instanceof LinuxException e) {
                return e.errno();
            }
            if (t instanceof VerbsException e) {
                return e.errno();
            }
        }
        return 0;
    }

    private static String remedy(Throwable failure) {
        if (isLinkage(failure)) {
            return DoctorHost.hasFewFiles()
                    ? MORE_FILES + "; without descriptors no class can be loaded"
                    : "the installation is incomplete or mixed: build again (mvn verify), or use ./verbena";
        }
        return switch (errno(failure)) {
            case Errno.EPERM, Errno.EACCES -> "the system forbids it: a capability is missing (see capabilities), or a"
                    + " seccomp filter or a security module refuses";
            case Errno.ENOSYS ->
                "the kernel, or the seccomp filter of a container, does not have this call: use a newer"
                        + " kernel, or allow the call";
            case Errno.EMFILE, Errno.ENFILE -> MORE_FILES;
            case Errno.EFBIG -> "raise the limit of the size of files: ulimit -f unlimited";
            case Errno.ENOMEM, Errno.ENOSPC -> "free memory, or raise the limit of the control group (memory.max) or of"
                    + " the address space (ulimit -v)";
            default -> DoctorHost.hasFewFiles()
                    ? MORE_FILES + "; if that does not help, " + REPORT
                    : REPORT;
        };
    }

    /** Whether a class is missing, however often the exception that says so is wrapped. */
    private static boolean isLinkage(Throwable failure) {
        return failure instanceof LinkageError || failure.getCause() != null && isLinkage(failure.getCause());
    }
}
