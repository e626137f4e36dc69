import Foundation
import TestSupport
import Timeline

/// A wall clock of one daemon's own, which a test sets; needs libfaketime, Debian's package `faketime`.
///
/// The clocks that count from the machine's start stay the machine's.
final class FakeClock: Sendable {
    private let path: String

    /// The library; nil: it is not installed.
    static let library: String? = {
        let folders = ["x86_64-linux-gnu", "aarch64-linux-gnu"].map { "/usr/lib/\($0)/faketime" }
        return folders.map { $0 + "/libfaketimeMT.so.1" }.first { FileManager.default.fileExists(atPath: $0) }
    }()

    /// A clock that shows `moment`, kept in a file of the folder.
    init(_ moment: Moment, in folder: TemporaryFolder) throws {
        path = folder.file("clock")
        try set(to: moment)
    }

    /// Sets it, and lets it go on from there.
    func set(to moment: Moment) throws {
        let offset = Double(moment.microseconds) / 1e6 - Date().timeIntervalSince1970
        let text = String(format: "%+.6f\n", offset)
        try Data(text.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
    }

    /// The environment of a program that shall see it.
    var environment: [String: String?] {
        [
            "LD_PRELOAD": Self.library, "FAKETIME_TIMESTAMP_FILE": path, "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1", "DONT_FAKE_MONOTONIC": "1", "NO_FAKE_STAT": "1",
        ]
    }
}
