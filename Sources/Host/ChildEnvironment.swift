/// The variables a program is started with: those it shares with many others, and its own, which win over them.
package struct ChildEnvironment: Sendable {
    /// Variables of many programs, written out once.
    package struct Shared: Sendable {
        /// The names and values.
        package let values: [String: String]
        fileprivate let names: [String]
        fileprivate let lines: CStrings

        /// Variables to be shared.
        package init(_ values: [String: String]) {
            self.values = values
            names = Array(values.keys)
            var lines = CStrings()
            for (name, value) in values { lines.append(name, value) }
            self.lines = lines
        }
    }

    private let shared: Shared?
    /// The program's own variables.
    package var own: [String: String]

    /// The variables of `own`, and of `shared` those it does not name.
    package init(_ own: [String: String], sharing shared: Shared? = nil) {
        self.own = own
        self.shared = shared
    }

    /// The value of the variable; nil: there is none.
    package subscript(name: String) -> String? { own[name] ?? shared?.values[name] }

    /// One line for each.
    var lines: CStrings {
        var lines = CStrings()
        if let shared {
            lines.append(shared.lines) { own[shared.names[$0]] == nil }
        }
        for (name, value) in own { lines.append(name, value) }
        return lines
    }
}
