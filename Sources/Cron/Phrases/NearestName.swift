/// Finds the name somebody meant.
package enum NearestName {
    /// The name of `names` that is closest to `name`, when it is close enough to be meant.
    ///
    /// Close enough is one slip (a letter more, less, other, or two swapped) for every three letters, and never as
    /// many as the name has letters. Else the shortest that begins with `name` and a mark, as `check.sh` with `check`.
    package static func of(_ name: String, among names: some Sequence<String>) -> String? {
        let limit = max(1, name.count / 3)
        let distances = names.map { (name: $0, distance: distance(name, $0)) }
        let nearest = distances.min { ($0.distance, $0.name) < ($1.distance, $1.name) }
        let near = nearest.flatMap { name, distance in
            distance > 0 && distance <= limit && distance < name.utf8.count ? name : nil
        }
        return near ?? longer(name, among: distances.map(\.name))
    }

    private static func longer(_ name: String, among names: [String]) -> String? {
        guard name.utf8.count > 1 else { return nil }
        let longer = names.filter { other in
            other.hasPrefix(name) && other.dropFirst(name.count).first.map { ".-_".contains($0) } == true
        }
        return longer.min { ($0.count, $0) < ($1.count, $1) }
    }

    /// The zone that is closest to `name`, also where it is named by its town or in other letters.
    package static func ofZone(_ name: String, among zones: [String]) -> String? {
        let wanted = String(name.lowercased().map { $0 == " " ? "_" : $0 })
        let same = zones.first { $0.lowercased() == wanted || $0.lowercased().hasSuffix("/" + wanted) }
        if let near = same ?? of(name, among: zones) { return near }
        let towns = zones.map {
            (town: $0.lowercased().split(separator: "/").last.map(String.init) ?? "", zone: $0)
        }
        let near = of(wanted, among: towns.map(\.town))
        return towns.first { $0.town == near }?.zone
    }

    /// `Did you mean "backup"?`, when something like it exists.
    package static func hint(_ name: String, among names: some Sequence<String>) -> String? {
        of(name, among: names).map { "Did you mean \"\($0)\"?" }
    }

    /// The number of slips between two names.
    ///
    /// - Source: Damerau 1964, in the form that edits no letter twice (optimal string alignment).
    static func distance(_ left: String, _ right: String) -> Int {
        let left = Array(left.utf8)
        let right = Array(right.utf8)
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for row in left.indices {
            var current = [row + 1]
            for column in right.indices {
                let isSame = left[row] == right[column]
                var best = min(last[column + 1] + 1, current[column] + 1, last[column] + (isSame ? 0 : 1))
                if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
                    best = min(best, beforeLast[column - 1] + 1)
                }
                current.append(best)
            }
            beforeLast = last
            last = current
        }
        return last[right.count]
    }
}
