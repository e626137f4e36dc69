import API
import Glibc
import Host

/// Finds the warden's program: beside this one, else in `libexec/belfry` of the same prefix.
enum WardenProgram {
    static func path() throws -> String {
        let folder = SmallFile.parent(of: try Machine.executablePath())
        let places = [
            folder + "/belfry-warden", SmallFile.parent(of: folder) + "/libexec/belfry/belfry-warden",
        ]
        for place in places where unsafe access(place, X_OK) == 0 { return place }
        throw APIError(
            .wardenAway, "belfry-warden is neither at \(places[0]) nor at \(places[1])",
            hint: "Install the three programs together, or start a daemon: belfryd")
    }
}
