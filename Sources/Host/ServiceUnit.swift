/// The systemd service that this process belongs to.
package struct ServiceUnit: Hashable, Sendable {
    /// Its name with `.service`.
    package let name: String
    /// Whether a user's manager runs it; the machine's does otherwise.
    package let isOfUser: Bool

    /// The command that speaks to its manager.
    package var control: String { isOfUser ? "systemctl --user" : "systemctl" }

    /// The service of this process; nil: none, as in a terminal or a container.
    package static var own: ServiceUnit? {
        (try? SmallFile.text("/proc/self/cgroup")).flatMap(ServiceUnit.init(membership:))
    }

    /// Reads the lines of `/proc/PID/cgroup`.
    ///
    /// What a user's manager runs lies below the service of that manager; a terminal lies in a scope.
    /// - Source: systemd.special(7), `user@.service`; cgroups(7).
    package init?(membership: String) {
        let paths = membership.split(separator: "\n").compactMap { line -> Substring? in
            let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3, parts[1].isEmpty || parts[1] == "name=systemd" else { return nil }
            return parts[2]
        }
        guard let path = paths.first(where: { $0.hasSuffix(".service") }) else { return nil }
        let names = path.split(separator: "/")
        guard let name = names.last, !name.hasPrefix("user@") else { return nil }
        self.name = String(name)
        isOfUser = names.dropLast().contains { $0.hasPrefix("user@") && $0.hasSuffix(".service") }
    }
}
