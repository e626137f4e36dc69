package import Ledger
import Logging

// Tokens of the door.
extension Control {
    /// Keeps a token.
    ///
    /// - Throws: ``EngineError/tokenExists(_:)``.
    package func addToken(_ token: TokenRecord) async throws(EngineError) {
        do throws(EngineError) {
            _ = try await commit([.putToken(token)])
        } catch {
            guard case .ledger(.fenced) = error else { throw error }
            throw .tokenExists(token.name)
        }
        logger.notice("made a token", metadata: ["token": "\(token.name)"])
    }

    /// Removes a token.
    ///
    /// - Throws: ``EngineError/noSuchToken(_:)``.
    package func removeToken(_ name: String) async throws(EngineError) {
        do throws(EngineError) {
            _ = try await commit([.removeToken(name: name)])
        } catch {
            guard case .ledger(.fenced) = error else { throw error }
            throw .noSuchToken(name)
        }
        logger.notice("removed a token", metadata: ["token": "\(name)"])
    }
}
