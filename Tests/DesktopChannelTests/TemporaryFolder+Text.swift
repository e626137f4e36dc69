import Foundation
import TestSupport

extension TemporaryFolder {
    /// What the file `name` holds; `nil` when there is none.
    func text(_ name: String) throws -> String? {
        guard FileManager.default.fileExists(atPath: file(name)) else { return nil }
        return try String(contentsOfFile: file(name), encoding: .utf8)
    }
}
