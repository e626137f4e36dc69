/// What people call signals.
package enum SignalName {
    /// - Source: signal(7), the numbers of x86 and ARM.
    private static let names = [
        1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT", 7: "SIGBUS",
        8: "SIGFPE",
        9: "SIGKILL", 10: "SIGUSR1", 11: "SIGSEGV", 12: "SIGUSR2", 13: "SIGPIPE", 14: "SIGALRM",
        15: "SIGTERM",
        16: "SIGSTKFLT", 24: "SIGXCPU", 25: "SIGXFSZ", 27: "SIGPROF", 29: "SIGIO", 30: "SIGPWR", 31: "SIGSYS",
    ]

    /// `SIGSEGV`; `signal 42` where it has no name.
    package static func text(_ number: Int) -> String { names[number] ?? "signal \(number)" }

    /// Whether a process gets it for a fault of its own, as a rule.
    package static func isCrash(_ number: Int) -> Bool { [4, 5, 6, 7, 8, 11, 31].contains(number) }
}
