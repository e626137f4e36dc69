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
        if let status, let limit = Self.descriptorLimit(status.pid), limit < 128 {
            found.append(
                problem(
                    "fewDescriptors", "belfryd may open only \(limit) files",
                    "raise the limit: ulimit -n 1024, or LimitNOFILE=1024 in the unit"))
        }
        return found
    }

    /// Whether the file a process was started from is gone from its place; not, where this user can't see it.
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
