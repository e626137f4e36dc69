/// All that was found to be wrong so far; reading goes on after each fault, so that a person sees them at once.
final class Faults {
    private(set) var problems: [Problem] = []
    var warnings: [Problem] = []
    var notes: [Problem] = []
    private var visited = 0
    private var hidden: [(secret: String, shown: String)] = []

    /// A file of a hundred bytes can name a billion elements, through aliases of aliases.
    private static let mostElements = 2_000_000

    func add(_ problem: Problem) {
        guard problems.count < SettingsError.longestList else { return }
        problems.append(problem)
    }

    /// Makes sure that `secret` is in no problem or warning, whatever line it stands in.
    func hide(_ secret: String, shownAs shown: String) {
        if !secret.isEmpty { hidden.append((secret, shown)) }
    }

    /// Problems without what is to be hidden.
    func cleaned(_ problems: [Problem]) -> [Problem] {
        hidden.isEmpty ? problems : problems.map { $0.hiding(hidden) }
    }

    /// Counts elements that are about to be read; false, after saying so once, when they are too many.
    func mayVisit(_ count: Int, of field: Field) -> Bool {
        guard visited <= Self.mostElements else { return false }
        visited += count
        guard visited > Self.mostElements else { return true }
        field.fault("the file has more than \(Self.mostElements) elements")
        return false
    }
}
