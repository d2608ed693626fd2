"""The protocol of Parrot, a provider that there is not."""
