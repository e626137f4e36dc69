import API
import APIClient
import ArgumentParser
import Host

/// What a shell offers for names, asked of the daemon; nothing when none answers at once.
enum Completions {
    static let jobs = CompletionKind.custom { _, _, _ in
        ask(Endpoints.jobs()).map(\.name)
    }

    static let runs = CompletionKind.custom { _, _, _ in
        var query = RunsQuery()
        query.limit = 50
        return ask(Endpoints.runs(query: query)).compactMap(\.name)
    }

    static let bots = CompletionKind.custom { _, _, _ in
        ask(Endpoints.bots()).map(\.name)
    }

    static let channels = CompletionKind.custom { _, _, _ in
        ask(Endpoints.channels()).map(\.name)
    }

    private static func ask<Value: Decodable>(_ call: Call<[Value]>) -> [Value] {
        for socket in Paths.socketsToTry() {
            let patience = Duration.milliseconds(500)
            let client = DaemonClient(socket: socket, patience: patience, longest: patience)
            if let values = try? client.ask(call) { return values }
        }
        return []
    }
}
