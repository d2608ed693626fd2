"""The service of a team: everybody's runs over a store, with roles, baselines, alerts, an audit log."""
