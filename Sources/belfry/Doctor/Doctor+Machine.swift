import API
import Glibc
import Host

extension Doctor {
    /// The clock, the zones, the session and its manager.
    func machineFindings() -> [WireProblem] {
        var found: [WireProblem] = []
        if !Machine.isClockSynchronised {
            found.append(
                warning(
                    "clockNotSynchronised", "the kernel reports that the clock is not synchronised",
                    "turn on a time service: timedatectl set-ntp true (a container has its host's clock)"))
        }
        let release = ZoneFiles().version
        if release == nil {
            found.append(
                problem(
                    "noZoneData", "no version of the time zone data was found",
                    "install it: apt install tzdata"))
        } else if let followed = status?.tzdata, let release, followed != release {
            found.append(
                warning(
                    "zoneDataChanged",
                    "slots follow the time zone data of \(followed), the machine has \(release)",
                    "belfryd reloads it; if this persists, restart it: running jobs continue"))
        }
        return found + sessionFindings()
    }

    private func sessionFindings() -> [WireProblem] {
        guard owner == .user else { return [] }
        var found: [WireProblem] = []
        // A running daemon reports whether its desktop channel has a bus and a server.
        if status == nil, !buses.contains(where: { unsafe access($0, F_OK) == 0 }) {
            let places = buses.joined(separator: ", nor at ")
            found.append(
                warning(
                    "noSessionBus", "there is no session bus at \(places); nothing pops up on a desktop",
                    "log in at the desktop, or route to a webhook instead"))
        }
        if unsafe access("/run/systemd/system", F_OK) == 0, geteuid() != 0,
            let run = ToolRun("loginctl", ["show-user", "\(geteuid())", "--property=Linger", "--value"]),
            Self.isLingering(run.code, run.lines) == false
        {
            found.append(
                warning(
                    "notLingering", "your services end when you log out, and jobs do not run then",
                    "keep them running: loginctl enable-linger"))
        }
        return found
    }

    /// Sockets where a session bus may be; an address of another kind counts as there.
    private var buses: [String] {
        let prefix = "unix:path="
        if let named = environment["DBUS_SESSION_BUS_ADDRESS"], !named.isEmpty {
            return [
                named.hasPrefix(prefix) ? String(named.dropFirst(prefix.count).prefix { $0 != "," }) : "/"
            ]
        }
        var places: [String] = []
        for folder in [environment["XDG_RUNTIME_DIR"], "/run/user/\(geteuid())"].compactMap({ $0 })
        where !places.contains(folder + "/bus") { places.append(folder + "/bus") }
        return places
    }

    /// What `loginctl show-user --property=Linger --value` printed; nil when it did not know.
    ///
    /// A user who is not logged in and does not linger is unknown to it, and it fails.
    static func isLingering(_ code: Int32?, _ lines: [String]) -> Bool? {
        switch (code, lines.first) {
        case (0, "yes"): true
        case (0, "no"): false
        default: lines.contains { $0.contains("not logged in or lingering") } ? false : nil
        }
    }
}
