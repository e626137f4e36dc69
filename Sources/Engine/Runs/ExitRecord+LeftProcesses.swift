package import Ledger
package import WardenProtocol

extension ExitRecord {
    /// The survivors as the ledger keeps them; nil: none.
    package var leftProcesses: [LeftProcess]? {
        survivors.isEmpty ? nil : survivors.map { LeftProcess(pid: $0.pid, name: $0.name) }
    }
}
