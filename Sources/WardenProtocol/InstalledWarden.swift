import Glibc
import Host

/// Where the warden's program is: beside the one that runs, else in `libexec/belfry` of the same prefix.
package enum InstalledWarden {
    /// It is in neither place.
    package struct Missing: Error, CustomStringConvertible {
        package let description: String
    }

    /// Its path.
    ///
    /// - Throws: ``Missing``, which names the places; `HostError` when it can't be known what runs.
    package static func path() throws -> String {
        let folder = SmallFile.parent(of: try Machine.executablePath())
        let places = [
            folder + "/belfry-warden", SmallFile.parent(of: folder) + "/libexec/belfry/belfry-warden",
        ]
        for place in places where unsafe access(place, X_OK) == 0 { return place }
        throw Missing(description: "belfry-warden is neither at \(places[0]) nor at \(places[1])")
    }
}
