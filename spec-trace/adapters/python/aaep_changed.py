from aaep import Producer
