import API
import Glibc
import Host

extension Doctor {
    /// Programs that run from a file that was replaced since, and limits.
    func programFindings() -> [WireProblem] {
        var found: [WireProblem] = []
        if let status, Self.isReplaced(status.pid) {
            found.append(
                warning(
                    "oldDaemon", "belfryd (pid \(status.pid)) was replaced on the disk since it started",
                    "restart it; running jobs go on"))
        }
        if let warden = status?.warden, Self.isReplaced(warden.pid) {
            found.append(
                warning(
                    "oldWarden",
                    "belfry-warden (pid \(warden.pid)) was replaced on the disk since it started",
                    warden.runs == 0
                        ? "restart it: systemctl restart belfry-warden"
                        : "restart it when belfry status shows no runs of it"))
        }
        return found + limitFindings()
    }

    /// What keeps a daemon from starting, or runs from beginning: each needs some descriptors of the warden.
    private func limitFindings() -> [WireProblem] {
        let hint = "raise the limit: ulimit -n 1024, or LimitNOFILE=1024 in the unit"
        if status == nil, let limit = try? DescriptorLimit.current(), limit < Self.descriptorsOfDaemon {
            return [
                warning(
                    "fewDescriptors",
                    "what is started from here may open only \(limit) files; belfryd needs "
                        + "\(Self.descriptorsOfDaemon)",
                    hint)
            ]
        }
        guard let warden = status?.warden, let limit = Self.descriptorLimit(warden.pid) else { return [] }
        let runs = max(0, (limit - 64) / 7)
        guard runs < Self.runsAtOnce else { return [] }
        return [
            warning(
                "fewDescriptors",
                "belfry-warden (pid \(warden.pid)) may open only \(limit) files: no more than \(runs) runs fit at "
                    + "once, and others fail",
                hint)
        ]
    }

    /// What a daemon asks for at its start.
    private static let descriptorsOfDaemon = 128
    /// How many runs there may be at once.
    private static let runsAtOnce = 64

    /// Whether the file that a process was started from was replaced or removed; false where this user can't see it.
    ///
    /// - Source: proc(5), `/proc/pid/exe`.
    private static func isReplaced(_ pid: Int32) -> Bool {
        (try? Machine.linkTarget("/proc/\(pid)/exe"))?.hasSuffix(" (deleted)") ?? false
    }

    private static func descriptorLimit(_ pid: Int32) -> Int? {
        guard let text = try? SmallFile.text("/proc/\(pid)/limits") else { return nil }
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("Max open files") }) else {
            return nil
        }
        return line.dropFirst("Max open files".count).split(separator: " ").first.flatMap { Int($0) }
    }
}
